/*
 * The label of a row.
 *
 * Members of a row:
 * income: "income", a number; NAN is missing
 * body_mass_index: "body mass\nindex", a number; NAN is missing
 * id: "id", a whole number; NULL is missing
 * smoker: "smoker", 0 or 1; a negative number is missing
 * so_called_class: "so-called \"class\"", text in UTF-8; NULL is missing
 * grosse: "gr\u00f6\u00dfe", text in UTF-8; NULL is missing
 * born: "born", days since 1970-01-01; NULL is missing
 * seen: "seen", milliseconds since 1970-01-01T00:00:00, in UTC; NULL is missing
 *
 * The function returns 1 and writes the answer, or returns 0 if it refuses the row.
 * It needs NAN, so compile it without -ffast-math.
 */
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct predict_row {
    double income;
    double body_mass_index;
    const int64_t *id;
    int smoker;
    const char *so_called_class;
    const char *grosse;
    const int64_t *born;
    const int64_t *seen;
};

int predict(const struct predict_row *row, const char **answer);

static int predict_is_one_of(const char *text, const char *const *known)
{
    for (; *known != NULL; known++)
        if (strcmp(text, *known) == 0)
            return 1;
    return 0;
}

int predict(const struct predict_row *row, const char **answer)
{
    if (isnan(row->income)) {
        return 0;
    }
    if (isnan(row->body_mass_index)) {
        return 0;
    }
    if (row->id == NULL) {
        return 0;
    }
    if (row->smoker < 0) {
        return 0;
    }
    if (row->so_called_class == NULL) {
        return 0;
    }
    if (!predict_is_one_of(row->so_called_class, (const char *const[]){"first", "the \"best\"", "C:\\", "", NULL})) {
        return 0;
    }
    if (row->grosse == NULL) {
        return 0;
    }
    if (!predict_is_one_of(row->grosse, (const char *const[]){"klein", "gro\303\237", NULL})) {
        return 0;
    }
    if (row->born == NULL) {
        return 0;
    }
    if (row->seen == NULL) {
        return 0;
    }
    if (row->income <= 0.30000000000000004) {
        *answer = "no";
        return 1;
    } else {
        if (row->body_mass_index <= 5.949999809265137) {
            *answer = "maybe";
            return 1;
        } else {
            if (*row->id <= INT64_C(9007199254740993)) {
                *answer = "the \"third\"";
                return 1;
            } else {
                if (row->smoker == 0) {
                    *answer = "back\\slash";
                    return 1;
                } else {
                    if (strcmp(row->so_called_class, "the \"best\"") != 0) {
                        *answer = "two\012lines";
                        return 1;
                    } else {
                        if (strcmp(row->so_called_class, "") != 0) {
                            *answer = "no";
                            return 1;
                        } else {
                            if (strcmp(row->so_called_class, "C:\\") != 0) {
                                *answer = "maybe";
                                return 1;
                            } else {
                                if (predict_is_one_of(row->so_called_class, (const char *const[]){"the \"best\"", "first", NULL})) {
                                    *answer = "the \"third\"";
                                    return 1;
                                } else {
                                    if (predict_is_one_of(row->grosse, (const char *const[]){"klein", NULL})) {
                                        *answer = "back\\slash";
                                        return 1;
                                    } else {
                                        if (*row->born <= INT64_C(18691)) {
                                            *answer = "two\012lines";
                                            return 1;
                                        } else {
                                            if (*row->seen <= INT64_C(1614945600250)) {
                                                *answer = "no";
                                                return 1;
                                            } else {
                                                *answer = "the \"third\"";
                                                return 1;
                                            }
                                        }
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}
