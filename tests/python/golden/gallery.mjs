/**
 * The share of each class at the leaf of a row, in this order:
 * "no", "maybe", "the \"third\"", "back\\slash", "two\nlines"
 *
 * A row is an object with these columns:
 * - "income", a number
 * - "body mass\nindex", a number
 * - "id", a whole number, a BigInt where a number would round it
 * - "smoker", a Boolean, or 0 or 1
 * - "so-called \"class\"", a string
 * - "gr\u00f6\u00dfe", a string
 * - "born", a Date, or a number or BigInt of days since 1970-01-01
 * - "seen", a Date, or a number or BigInt of milliseconds since 1970-01-01T00:00:00, in UTC
 *
 * Null, undefined, NaN and an invalid Date are missing values.
 * The answer is null of a row that the tree refuses.
 */
export function score(row) {
  function read(name, ...types) {
    if (!Object.hasOwn(row, name)) {
      throw new TypeError(`the row has no column ${JSON.stringify(name)}`);
    }
    const value = row[name];
    if (value === null || value === undefined || Number.isNaN(value)) {
      return null;
    }
    if (!types.includes(typeof value)) {
      throw new TypeError(`column ${JSON.stringify(name)} cannot be a ${typeof value}`);
    }
    return value;
  }
  function moment(value, inUnit) {
    if (value === null || typeof value !== "object") {
      return value;
    }
    const milliseconds = value.getTime();
    return Number.isNaN(milliseconds) ? null : inUnit(milliseconds);
  }
  const x0 = read("income", "number", "bigint", "boolean");
  const x1 = read("body mass\nindex", "number", "bigint", "boolean");
  const x2 = read("id", "number", "bigint");
  const x3 = read("smoker", "boolean", "number");
  const x4 = read("so-called \"class\"", "string");
  const x5 = read("gr\u00f6\u00dfe", "string");
  const x6 = moment(read("born", "object", "number", "bigint"), (ms) => ms / 86400000);
  const x7 = moment(read("seen", "object", "number", "bigint"), (ms) => ms);
  if (x0 === null) {
    return null;
  }
  if (x1 === null) {
    return null;
  }
  if (x2 === null) {
    return null;
  }
  if (x3 === null) {
    return null;
  }
  if (x4 === null) {
    return null;
  }
  if (!["first", "the \"best\"", "C:\\", ""].includes(x4)) {
    return null;
  }
  if (x5 === null) {
    return null;
  }
  if (!["klein", "gro\u00df"].includes(x5)) {
    return null;
  }
  if (x6 === null) {
    return null;
  }
  if (x7 === null) {
    return null;
  }
  if (x0 <= 0.30000000000000004) {
    return [0.000999000999000999, 0.999000999000999, 0.0, 0.0, 0.0];
  } else {
    if (x1 <= 5.949999809265137) {
      return [0.000999000999000999, 0.999000999000999, 0.0, 0.0, 0.0];
    } else {
      if (x2 <= 9007199254740993n) {
        return [0.000999000999000999, 0.999000999000999, 0.0, 0.0, 0.0];
      } else {
        if (!x3) {
          return [0.000999000999000999, 0.999000999000999, 0.0, 0.0, 0.0];
        } else {
          if (x4 !== "the \"best\"") {
            return [0.000999000999000999, 0.999000999000999, 0.0, 0.0, 0.0];
          } else {
            if (x4 !== "") {
              return [0.000999000999000999, 0.999000999000999, 0.0, 0.0, 0.0];
            } else {
              if (x4 !== "C:\\") {
                return [0.000999000999000999, 0.999000999000999, 0.0, 0.0, 0.0];
              } else {
                if (["the \"best\"", "first"].includes(x4)) {
                  return [0.000999000999000999, 0.999000999000999, 0.0, 0.0, 0.0];
                } else {
                  if (["klein"].includes(x5)) {
                    return [0.000999000999000999, 0.999000999000999, 0.0, 0.0, 0.0];
                  } else {
                    if (x6 <= 18691) {
                      return [0.000999000999000999, 0.999000999000999, 0.0, 0.0, 0.0];
                    } else {
                      if (x7 <= 1614945600250) {
                        return [0.000999000999000999, 0.999000999000999, 0.0, 0.0, 0.0];
                      } else {
                        return [0.0, 0.0, 0.14285714285714285, 0.0, 0.8571428571428571];
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
