/* RSA public keys of recipients, parsed here instead of by OpenSSL.
 *
 * OpenSSL's decoders take 200 microseconds per key, several times as long as the encryption; the structure is two
 * nested sequences of known types. Only the two numbers are read here; OpenSSL checks them later. */
#include "recipient.h"

#include "apns_base64.h"
#include "apns_check.h"
#include <stdio.h>
#include <string.h>

enum {
    TAG_INTEGER = 0x02,
    TAG_BIT_STRING = 0x03,
    TAG_NULL = 0x05,
    TAG_OID = 0x06,
    TAG_SEQUENCE = 0x30,
    /* The size of the largest key, with a margin. */
    DER_MAX = APNS_CRYPTO_RSA_BYTES_MAX + 64,
};

/* 1.2.840.113549.1.1.1 (RFC 8017) and 1.2.840.10045.2.1 (RFC 5480). */
static const uint8_t oid_rsa[] = {0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x01};
static const uint8_t oid_ec[] = {0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01};

typedef struct span {
    const uint8_t *bytes;
    size_t length;
} span;

/* Takes an element off the front and returns its content, if the tag matches and the length is within the rest. */
static bool take(span *from, uint8_t tag, span *content) {
    if (from->length < 2 || from->bytes[0] != tag) return false;
    size_t length = from->bytes[1];
    size_t header = 2;
    if (length > 0x7F) {
        size_t count = length & 0x7F;
        if (count == 0 || count > 2 || from->length < 2 + count) return false;
        length = 0;
        while (count-- > 0)
            length = length << 8 | from->bytes[header++];
    }
    if (length > from->length - header) return false;
    *content = (span){from->bytes + header, length};
    from->bytes += header + length;
    from->length -= header + length;
    return true;
}

static bool equals(span text, const uint8_t *bytes, size_t length) {
    return text.length == length && memcmp(text.bytes, bytes, length) == 0;
}

/* Takes a positive number and removes its leading zero. */
static bool take_number(span *from, span *number) {
    if (!take(from, TAG_INTEGER, number) || number->length == 0 || (number->bytes[0] & 0x80) != 0) return false;
    if (number->bytes[0] == 0 && number->length > 1) {
        number->bytes++;
        number->length--;
    }
    return number->bytes[0] != 0;
}

static uint32_t bit_count(span number) {
    uint32_t bits = (uint32_t)(number.length - 1) * 8;
    for (uint8_t top = number.bytes[0]; top != 0; top >>= 1)
        bits++;
    return bits;
}

static int refuse(apns_error *error, int fault, const char *found) {
    return apns_crypto_fail(error, fault, "expected an RSA public key of %d bits or more (PEM or base64 DER), found %s",
                            APNS_CRYPTO_RSA_BITS_MIN, found);
}

/* Reads an RSAPublicKey: modulus and exponent (RFC 8017, appendix A.1.1). */
static int read_numbers(span numbers, crypto_rsa *out, apns_error *error) {
    span modulus, exponent;
    if (!take_number(&numbers, &modulus) || !take_number(&numbers, &exponent) || numbers.length != 0)
        return refuse(error, APNS_CRYPTO_FAULT_MALFORMED, "DER of something else");
    out->bits = bit_count(modulus);
    if (out->bits < APNS_CRYPTO_RSA_BITS_MIN || out->bits > APNS_CRYPTO_RSA_BITS_MAX) {
        char found[64];
        (void)snprintf(found, sizeof(found), "one of %u bits%s", out->bits,
                       out->bits > APNS_CRYPTO_RSA_BITS_MAX ? ", more than 8192" : "");
        return refuse(error, APNS_CRYPTO_FAULT_SIZE, found);
    }
    bool odd = (modulus.bytes[modulus.length - 1] & exponent.bytes[exponent.length - 1] & 1) != 0;
    if (!odd || exponent.length > sizeof(out->exponent) || bit_count(exponent) < 2)
        return refuse(error, APNS_CRYPTO_FAULT_MALFORMED, "one with impossible numbers");
    memcpy(out->modulus, modulus.bytes, modulus.length);
    out->modulus_length = modulus.length;
    memcpy(out->exponent, exponent.bytes, exponent.length);
    out->exponent_length = exponent.length;
    return APNS_OK;
}

/* Reads a SubjectPublicKeyInfo (RFC 5280, section 4.1) or an RSAPublicKey, which differ in their first element. */
static int read_der(span der, crypto_rsa *out, apns_error *error) {
    span outer, algorithm, oid, null, bits, numbers;
    if (!take(&der, TAG_SEQUENCE, &outer) || der.length != 0)
        return refuse(error, APNS_CRYPTO_FAULT_MALFORMED, "bytes that are no DER");
    if (outer.length > 0 && outer.bytes[0] == TAG_INTEGER) return read_numbers(outer, out, error);
    if (!take(&outer, TAG_SEQUENCE, &algorithm) || !take(&algorithm, TAG_OID, &oid))
        return refuse(error, APNS_CRYPTO_FAULT_MALFORMED, "DER of something else");
    if (equals(oid, oid_ec, sizeof(oid_ec))) return refuse(error, APNS_CRYPTO_FAULT_WRONG_KIND, "an EC key");
    if (!equals(oid, oid_rsa, sizeof(oid_rsa)))
        return refuse(error, APNS_CRYPTO_FAULT_WRONG_KIND, "a key of another algorithm");
    bool plain = algorithm.length == 0 || (take(&algorithm, TAG_NULL, &null) && null.length + algorithm.length == 0);
    if (!plain || !take(&outer, TAG_BIT_STRING, &bits) || outer.length != 0 || bits.length == 0 || bits.bytes[0] != 0)
        return refuse(error, APNS_CRYPTO_FAULT_MALFORMED, "DER of something else");
    bits.bytes++;
    bits.length--;
    if (!take(&bits, TAG_SEQUENCE, &numbers) || bits.length != 0)
        return refuse(error, APNS_CRYPTO_FAULT_MALFORMED, "DER of something else");
    return read_numbers(numbers, out, error);
}

/* Decodes base64 and reads the DER. Texts longer than the largest key are refused. */
static int read_base64(span text, crypto_rsa *out, apns_error *error) {
    uint8_t der[DER_MAX];
    ptrdiff_t length = apns_base64_decode(text.bytes, text.length, true, der, sizeof(der));
    if (length < 0) {
        bool large = text.length > apns_base64_length(DER_MAX);
        return refuse(error, large ? APNS_CRYPTO_FAULT_SIZE : APNS_CRYPTO_FAULT_MALFORMED,
                      large ? "more bytes than a key of 8192 bits has" : "text that is neither PEM nor base64");
    }
    return read_der((span){der, (size_t)length}, out, error);
}

static int read_pem(span pem, size_t at, const char *label, crypto_rsa *out, apns_error *error) {
    if (strcmp(label, "PUBLIC KEY") != 0 && strcmp(label, "RSA PUBLIC KEY") != 0) {
        char found[64];
        (void)snprintf(found, sizeof(found), "a PEM block \"%s\"", label);
        return refuse(error, APNS_CRYPTO_FAULT_WRONG_BLOCK, found);
    }
    static const char dashes[] = "-----";
    const size_t count = sizeof(dashes) - 1;
    size_t end = at + count;
    if (end > pem.length || memcmp(pem.bytes + at, dashes, count) != 0) end = pem.length;
    span body = {pem.bytes + end, 0};
    while (end + body.length < pem.length && body.bytes[body.length] != '-')
        body.length++;
    if (end + body.length == pem.length)
        return refuse(error, APNS_CRYPTO_FAULT_MALFORMED, "a PEM block without its end");
    return read_base64(body, out, error);
}

int apns_crypto_rsa_read(const uint8_t *key, size_t length, crypto_rsa *out, apns_error *error) {
    if (length == 0) return refuse(error, APNS_CRYPTO_FAULT_NOT_PEM, "nothing");
    /* The length of a key within the limits takes two bytes in DER, and no text begins like that. */
    if (length > 2 && key[0] == TAG_SEQUENCE && key[1] >= 0x80) return read_der((span){key, length}, out, error);
    char label[CRYPTO_PEM_LABEL_MAX + 1];
    size_t at = 0;
    if (apns_crypto_pem_next_label(key, length, &at, label))
        return read_pem((span){key, length}, at, label, out, error);
    return read_base64((span){key, length}, out, error);
}

int apns_crypto_recipient_check(const uint8_t *key, size_t length, uint32_t *bits, apns_error *error) {
    APNS_REQUIRE(bits != NULL && (key != NULL || length == 0));
    apns_crypto_begin(error);
    *bits = 0;
    crypto_rsa rsa;
    int status = apns_crypto_rsa_read(key, length, &rsa, error);
    if (status == APNS_OK) *bits = rsa.bits;
    return status;
}
