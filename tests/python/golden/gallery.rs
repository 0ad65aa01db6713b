// The id of the leaf of a row.
// None is a missing value, and the answer of a row that the tree refuses.

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PredictRow<'a> {
    // "income", a number; NaN is missing, too
    pub income: Option<f64>,
    // "body mass\nindex", a number; NaN is missing, too
    pub body_mass_index: Option<f64>,
    // "id", a whole number
    pub id: Option<i64>,
    // "smoker", a Boolean
    pub smoker: Option<bool>,
    // "so-called \"class\"", a text
    pub so_called_class: Option<&'a str>,
    // "gr\u00f6\u00dfe", a text
    pub grosse: Option<&'a str>,
    // "born", days since 1970-01-01
    pub born: Option<i64>,
    // "seen", milliseconds since 1970-01-01T00:00:00, in UTC
    pub seen: Option<i64>,
}

#[allow(clippy::all)]
pub fn predict(row: &PredictRow<'_>) -> Option<i64> {
    let x0 = row.income.filter(|value| !value.is_nan());
    let x1 = row.body_mass_index.filter(|value| !value.is_nan());
    let x2 = row.id;
    let x3 = row.smoker;
    let x4 = row.so_called_class;
    let x5 = row.grosse;
    let x6 = row.born;
    let x7 = row.seen;
    if x0.map_or(false, |value| value <= 0.30000000000000004) {
        Some(1)
    } else {
        if x1.map_or(false, |value| value <= 5.949999809265137) {
            Some(3)
        } else {
            if x2.map_or(false, |value| value <= 9007199254740993) {
                Some(5)
            } else {
                if x3.map_or(false, |value| !value) {
                    Some(7)
                } else {
                    if x4.map_or(false, |value| value != "the \"best\"") {
                        Some(9)
                    } else {
                        if x4.map_or(false, |value| value != "") {
                            Some(11)
                        } else {
                            if x4.map_or(false, |value| value != "C:\\") {
                                Some(13)
                            } else {
                                if x4.map_or(false, |value| matches!(value, "the \"best\"" | "first")) {
                                    Some(15)
                                } else {
                                    if x5.map_or(false, |value| matches!(value, "klein")) {
                                        Some(17)
                                    } else {
                                        if x6.map_or(false, |value| value <= 18691) {
                                            Some(19)
                                        } else {
                                            if x7.map_or(true, |value| value <= 1614945600250) {
                                                Some(21)
                                            } else {
                                                Some(22)
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
