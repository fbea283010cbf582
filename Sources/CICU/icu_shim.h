#ifndef PARLEY_CICU_H
#define PARLEY_CICU_H
#include <unicode/unorm2.h>
#include <unicode/uspoof.h>
#include <unicode/ustring.h>

// ICU names its functions by macros that carry the version (uspoof_open_72), which Swift does not see. No logic here.

static inline USpoofChecker *icu_spoof_open(UErrorCode *status) { return uspoof_open(status); }

static inline const UNormalizer2 *icu_nfkc_casefold(UErrorCode *status) {
    return unorm2_getNFKCCasefoldInstance(status);
}

static inline UChar *icu_from_utf8(
    UChar *out, int32_t room, int32_t *length, const char *text, int32_t count, UErrorCode *status) {
    return u_strFromUTF8(out, room, length, text, count, status);
}

static inline int32_t icu_normalize(
    const UNormalizer2 *form, const UChar *text, int32_t count, UChar *out, int32_t room, UErrorCode *status) {
    return unorm2_normalize(form, text, count, out, room, status);
}

static inline int32_t icu_skeleton(
    const USpoofChecker *checker, const UChar *text, int32_t count, UChar *out, int32_t room, UErrorCode *status) {
    return uspoof_getSkeleton(checker, 0, text, count, out, room, status);
}
#endif
