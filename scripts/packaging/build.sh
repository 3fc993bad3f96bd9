# shellcheck shell=bash
# Sourced by scripts/package and others: how the command of the package is compiled, and what it is called. Everything is in
# .build-package, beside the ordinary build.

package_build="$root/.build-package/build"

# The version of the source, which scripts/release sets.
package_version() {
    local version
    version="$(sed -n 's/.*static let current = "\([^"]*\)".*/\1/p' 'Sources/APNSBatch/Run/CampaignSummary+Making.swift')"
    [ -n "$version" ] || fail "no version in Sources/APNSBatch/Run/CampaignSummary+Making.swift"
    echo "$version"
}

# The commit, and whether files differ from it.
package_commit() { git describe --always --dirty=-changed --abbrev=12 --exclude '*'; }

# The time of the commit, in seconds since 1970: the time of everything that is made.
package_time() { git log --max-count=1 --format=%ct; }

# Paths of this checkout are replaced, so that they are not in the result.
build_command() {
    local flags=(
        --configuration release --product apns-batch --static-swift-stdlib --scratch-path "$package_build"
        --disable-local-rpath
        -Xswiftc -file-prefix-map -Xswiftc "$root=/usr/src/apns-batch" -Xcc "-ffile-prefix-map=$root=/usr/src/apns-batch"
        -Xcc -fstack-protector-strong
        -Xlinker -z -Xlinker relro -Xlinker -z -Xlinker now -Xlinker --build-id=sha1
    )
    APNS_BATCH_COMMIT="$(package_commit)" swift build --disable-index-store "${flags[@]}" >&2 ||
        fail "the build failed; its messages stand above"
    # shellcheck disable=SC2034  # for the script that sources this
    package_binary="$(swift build "${flags[@]}" --show-bin-path)/apns-batch"
}
