#include "h2_hpack.h"

#include "apns_check.h"
#include <string.h>

void apns_h2_table_init(h2_table *table, apns_h2_memory *memory) {
    memset(table, 0, sizeof(*table));
    table->memory = memory;
    table->bytes_max = H2_TABLE_BYTES_MAX;
}

static h2_table_entry *entry_at(h2_table *table, uint64_t number) {
    return &table->entries[number % H2_TABLE_ENTRIES_MAX];
}

static uint32_t size_of(uint32_t name_length, uint32_t value_length) {
    return name_length + value_length + H2_TABLE_ENTRY_OVERHEAD;
}

static void evict(h2_table *table) {
    APNS_REQUIRE(table->evicted < table->inserted);
    h2_table_entry *oldest = entry_at(table, table->evicted++);
    const uint32_t size = size_of(oldest->name_length, oldest->value_length);
    APNS_REQUIRE(size <= table->bytes);
    table->bytes -= size;
    table->version++;
    APNS_ASSERT((table->evicted == table->inserted) == (table->bytes == 0));
    apns_h2_memory_give(table->memory, oldest->bytes);
    oldest->bytes = NULL;
}

void apns_h2_table_clear(h2_table *table) {
    while (table->evicted < table->inserted)
        evict(table);
}

void apns_h2_table_resize(h2_table *table, uint32_t bytes_max) {
    table->bytes_max = bytes_max;
    while (table->bytes > bytes_max)
        evict(table);
}

bool apns_h2_table_insert(h2_table *table, const apns_h2_field *field, uint32_t hash) {
    uint64_t size = (uint64_t)field->name_length + field->value_length + H2_TABLE_ENTRY_OVERHEAD;
    if (size > table->bytes_max) return false;
    uint8_t *bytes = apns_h2_memory_take(table->memory, (size_t)size);
    if (bytes == NULL) return false;
    memcpy(bytes, field->name, field->name_length);
    if (field->value_length > 0) memcpy(bytes + field->name_length, field->value, field->value_length);
    while (table->bytes + size > table->bytes_max)
        evict(table);
    APNS_REQUIRE(table->inserted - table->evicted < H2_TABLE_ENTRIES_MAX);
    *entry_at(table, table->inserted++) = (h2_table_entry){bytes, field->name_length, field->value_length, hash, 0};
    table->bytes += (uint32_t)size;
    table->version++;
    APNS_ASSERT(table->bytes <= table->bytes_max);
    return true;
}

static uint32_t index_of(const h2_table *table, uint64_t number) {
    return H2_STATIC_COUNT + (uint32_t)(table->inserted - number);
}

bool apns_h2_table_at(const h2_table *table, uint32_t index, apns_h2_field *field) {
    if (index <= H2_STATIC_COUNT || index - H2_STATIC_COUNT > table->inserted - table->evicted) return false;
    uint64_t number = table->inserted - (index - H2_STATIC_COUNT);
    const h2_table_entry *entry = &table->entries[number % H2_TABLE_ENTRIES_MAX];
    *field = (apns_h2_field){.name = entry->bytes,
                             .value = entry->bytes + entry->name_length,
                             .name_length = entry->name_length,
                             .value_length = entry->value_length};
    return true;
}

static bool name_is(const h2_table_entry *entry, const uint8_t *name, size_t length) {
    return entry->name_length == length && memcmp(entry->bytes, name, length) == 0;
}

uint32_t apns_h2_table_find(const h2_table *table, const apns_h2_field *field, uint32_t hash) {
    for (uint64_t i = table->evicted; i < table->inserted; i++) {
        const h2_table_entry *entry = &table->entries[i % H2_TABLE_ENTRIES_MAX];
        if (entry->hash == hash && entry->value_length == field->value_length &&
            name_is(entry, field->name, field->name_length) &&
            (field->value_length == 0 ||
             memcmp(entry->bytes + entry->name_length, field->value, field->value_length) == 0))
            return index_of(table, i);
    }
    return 0;
}

uint32_t apns_h2_table_name_find(const h2_table *table, const uint8_t *name, size_t length) {
    for (uint64_t i = table->inserted; i > table->evicted; i--)
        if (name_is(&table->entries[(i - 1) % H2_TABLE_ENTRIES_MAX], name, length)) return index_of(table, i - 1);
    return 0;
}

static uint32_t hash_add(uint32_t hash, const uint8_t *bytes, size_t length) {
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ bytes[i]) * 16777619u; /* FNV-1a */
    return hash;
}

uint32_t apns_h2_field_hash(const apns_h2_field *field) {
    uint32_t hash = hash_add(2166136261u, field->name, field->name_length);
    return hash_add((hash ^ 0xffu) * 16777619u, field->value, field->value_length);
}
