# Pictures over the chat line with nothing but a shell, netcat, base64 and awk. Source this file:
#
#   . docs/examples/img.sh
#   img_send '#cats' cat.jpg 'my cat'        # says the picture in #cats, prints its id
#   img_get '#cats' i0123456789abc cat.jpg   # fetches one; what is there already is not fetched again
#
# IMG_SERVER is where to connect (localhost 6667), IMG_NICK who one is, IMG_TOKEN the token of `IDENTITY TOKEN`.

img_server() { nc -N ${IMG_SERVER:-localhost 6667} | tr -d '\r'; }

img_enter() {
    if [ -n "$IMG_TOKEN" ]; then printf 'PASS guest:%s\n' "$IMG_TOKEN"; fi
    printf 'NICK %s\n' "${IMG_NICK:-img$$}"
}

img_type() {
    case $1 in
        *.jpg | *.jpeg | *.JPG) echo image/jpeg ;;
        *.png) echo image/png ;;
        *.gif) echo image/gif ;;
        *.webp) echo image/webp ;;
        *) echo "img: what is $1?" >&2; return 1 ;;
    esac
}

# img_send TARGET FILE [CAPTION]
img_send() {
    img_kind=$(img_type "$2") || return
    {
        img_enter
        case $1 in '#'*) printf 'JOIN %s\n' "$1" ;; esac
        printf 'IMG PASTE %s %s :%s\n' "$1" "$img_kind" "$3"
        base64 "$2"
        printf '.\nQUIT\n'
    } | img_server | awk '
        $2 == "FAIL" && $3 == "IMG" { print > "/dev/stderr"; exit }
        $2 == "IMG" && $3 == "DONE" { print $4; done = 1; exit }
        END { exit !done }'
}

# img_get CHANNEL ID FILE: goes on where an earlier one broke off, and checks the whole.
img_get() {
    touch "$3"
    img_lines=$(mktemp)
    {
        img_enter
        printf 'JOIN %s\nIMG GET %s %s\nQUIT\n' "$1" "$2" "$(wc -c <"$3" | tr -d ' ')"
    } | img_server >"$img_lines"
    awk '$1 == "IMG" && $2 == "DATA" { print $5 }' "$img_lines" | base64 -d >>"$3"
    img_sum=$(awk '$1 == "IMG" && $2 == "EOF" { print $4 }' "$img_lines")
    grep ' FAIL IMG ' "$img_lines" >&2
    rm -f "$img_lines"
    [ -n "$img_sum" ] && [ "$(sha256sum <"$3" | cut -d' ' -f1)" = "$img_sum" ]
}
