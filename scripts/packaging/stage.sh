# shellcheck shell=bash
# Sourced by scripts/package: the trees of the two packages, and the packages made of them. Everything has the time of the commit.

packaging="$root/scripts/packaging"

# fill TEMPLATE NAME VALUE...: prints the template with values for @NAME@.
fill() {
    local text name
    text="$(cat "$packaging/$1")"
    shift
    while [ $# -gt 0 ]; do
        name="$1"
        text="${text//@$name@/$2}"
        shift 2
    done
    printf '%s\n' "$text"
}

# put FILE TARGET [MODE]
put() { install -D --mode "${3:-644}" "$1" "$tree/$2"; }

# put_packed FILE TARGET: without name and time, which differ from build to build.
put_packed() { mkdir -p "$(dirname "$tree/$2")" && gzip --best --no-name --stdout "$1" >"$tree/$2"; }

stage_binary() {
    local symbols="$1"
    put "$package_binary" usr/bin/apns-batch 755
    build_id="$(readelf --notes "$package_binary" | sed -n 's/.*Build ID: //p')"
    [ -n "$build_id" ] || fail "the linker gave the command no build id"
    local debug="$symbols/usr/lib/debug/.build-id/${build_id:0:2}/${build_id:2}.debug"
    mkdir -p "$(dirname "$debug")"
    objcopy --only-keep-debug --compress-debug-sections "$package_binary" "$debug"
    chmod 644 "$debug"
    strip --strip-unneeded --remove-section=.comment --remove-section=.note "$tree/usr/bin/apns-batch"
}

stage_manual() {
    "$package_binary" --experimental-dump-help |
        "$packaging/manual.py" "$work/man" --version "$version" --time "$SOURCE_DATE_EPOCH"
    local page
    for page in "$work"/man/*.1; do put_packed "$page" "usr/share/man/man1/$(basename "$page").gz"; done
}

stage_completions() {
    local shell
    for shell in bash zsh fish; do
        "$package_binary" --generate-completion-script "$shell" >"$work/$shell" || fail "no completion script for $shell"
    done
    # It is sourced, and is no program.
    sed -i '1{/^#!/d}' "$work/bash"
    put "$work/bash" usr/share/bash-completion/completions/apns-batch
    put "$work/zsh" usr/share/zsh/vendor-completions/_apns-batch
    put "$work/fish" usr/share/fish/vendor_completions.d/apns-batch.fish
}

stage_service() {
    put "examples/systemd/apns-batch@.service" "lib/systemd/system/apns-batch@.service"
    put "examples/systemd/apns-batch@.timer" "lib/systemd/system/apns-batch@.timer"
    put "examples/systemd/apns-batch-boot@.service" "lib/systemd/system/apns-batch-boot@.service"
    put "$packaging/sysusers.conf" usr/lib/sysusers.d/apns-batch.conf
    install -d --mode 755 "$tree/etc/apns-batch"
}

# The changelog of the package in the format of Debian. What is new stands in that of the project.
debian_changelog() {
    printf 'apns-batch (%s) unstable; urgency=medium\n\n  * Release %s; changelog.gz says what is new.\n\n -- %s  %s\n' \
        "$debian_version" "$version" "$maintainer" "$(date --utc --rfc-email --date "@$SOURCE_DATE_EPOCH")"
}

stage_documents() {
    local doc=usr/share/doc/apns-batch pin
    for pin in $(sed -n 's/.*"identity" : "\(.*\)".*/\1/p' Package.resolved); do
        grep -q "^\(Files:\)\? $pin/\*$" "$packaging/copyright" ||
            fail "$pin is linked into the command; give its copyright in scripts/packaging/copyright"
    done
    put "$packaging/copyright" "$doc/copyright"
    debian_changelog >"$work/changelog.Debian"
    put_packed "$work/changelog.Debian" "$doc/changelog.Debian.gz"
    put_packed CHANGELOG.md "$doc/changelog.gz"
    put examples/systemd/nightly.yaml "$doc/examples/nightly.yaml"
    put examples/systemd/payload.json "$doc/examples/payload.json"
    put examples/systemd/broadcast.conf "$doc/examples/broadcast.conf"
    put examples/kubernetes/cronjob.yaml "$doc/examples/kubernetes/cronjob.yaml"
    local file
    for file in README.md campaign.yaml payload.json rows.csv; do put "examples/sealed/$file" "$doc/examples/sealed/$file"; done
    # What messages and manual pages name.
    put_packed README.md "$doc/README.md.gz"
    for file in docs/{guide,integrate,reference}/*.md docs/integrate/spark/*.md docs/internals/performance.md; do
        put_packed "$file" "$doc/$file.gz"
    done
    put examples/prometheus/alerts.yml "$doc/examples/prometheus/alerts.yml"
    put examples/grafana/apns-batch.json "$doc/examples/grafana/apns-batch.json"
    put "$packaging/lintian-overrides" usr/share/lintian/overrides/apns-batch
}

# The packages of the libraries that the command is linked with, in the versions that have what it uses.
library_dependencies() {
    mkdir -p "$work/shlibdeps/debian"
    printf 'Source: apns-batch\n\nPackage: apns-batch\nArchitecture: any\n' >"$work/shlibdeps/debian/control"
    (cd "$work/shlibdeps" && dpkg-shlibdeps -O "$tree/usr/bin/apns-batch") | sed -n 's/^shlibs:Depends=//p'
}

# make_package TREE CONTROL NAME VALUE...: adds the control files to a tree, and makes the package.
make_package() {
    local tree="$1" size
    size="$(du --summarize --apparent-size --block-size=1024 "$tree" | cut -f 1)"
    mkdir --mode 755 "$tree/DEBIAN"
    fill "$2" SIZE "$size" VERSION "$debian_version" MAINTAINER "$maintainer" \
        ARCHITECTURE "$(dpkg --print-architecture)" "${@:3}" >"$tree/DEBIAN/control"
    (cd "$tree" && find . -path ./DEBIAN -prune -o -type f -printf '%P\0' | sort --zero-terminated |
        xargs --null md5sum >DEBIAN/md5sums)
    if [ "$2" = control ]; then install --mode 755 "$packaging/postinst" "$packaging/postrm" "$tree/DEBIAN"; fi
    chmod --recursive go-w "$tree"
    find "$tree" -exec touch --no-dereference --date "@$SOURCE_DATE_EPOCH" {} +
    dpkg-deb --root-owner-group -Zxz --build "$tree" "$out" >&2
}

stage_package() {
    tree="$work/apns-batch"
    local symbols="$work/apns-batch-dbgsym"
    mkdir -p "$tree" "$symbols/usr/share/doc"
    stage_binary "$symbols"
    stage_manual
    stage_completions
    stage_service
    stage_documents
    ln -s apns-batch "$symbols/usr/share/doc/apns-batch-dbgsym"
    local dependencies
    dependencies="$(library_dependencies)"
    [ -n "$dependencies" ] || fail "dpkg-shlibdeps found no packages of the libraries that the command needs"
    make_package "$tree" control DEPENDS "$dependencies"
    make_package "$symbols" control-dbgsym BUILD_ID "$build_id"
}
