//! Python's pickles, as far as they are plain data: texts, numbers, lists and dictionaries. Nothing is run. An object is the
//! state that it was given; one without becomes null.

use serde_json::{Map, Number, Value};

/// Maximum number of values for each byte of a pickle, and for a short one: one value can occur many times.
const VALUES_A_BYTE: usize = 2;
const LEAST_VALUES: usize = 64;
/// Bytes of a text that count as a value.
const TEXT: usize = 16;
/// Deepest nesting.
const MAX_DEPTH: usize = 64;

/// The index of a value among all.
type ValueIndex = usize;

/// A value in the making. Its parts are indexes, for a list is named before it is filled.
enum PickleValue {
    Leaf(Value),
    List(Vec<ValueIndex>),
    Dict(Vec<(ValueIndex, ValueIndex)>),
    Object(Option<ValueIndex>),
}

/// Reads a pickle of any of Python's binary protocols; `None` if it is none.
pub fn parse(bytes: &[u8]) -> Option<Value> {
    let mut unpickler = Unpickler { bytes, made: Vec::new(), stack: Vec::new(), marks: Vec::new(), memo: Vec::new() };
    while unpickler.step()? {}
    let top = unpickler.stack.pop()?;
    let mut left = LEAST_VALUES + bytes.len() * VALUES_A_BYTE;
    unpickler.value(top, MAX_DEPTH, &mut left)
}

struct Unpickler<'a> {
    bytes: &'a [u8],
    made: Vec<PickleValue>,
    stack: Vec<ValueIndex>,
    /// Heights of the stack.
    marks: Vec<usize>,
    memo: Vec<Option<ValueIndex>>,
}

impl<'a> Unpickler<'a> {
    /// Runs an instruction. Returns whether there are more.
    fn step(&mut self) -> Option<bool> {
        match self.byte()? {
            0x80 => drop(self.byte()?),
            0x95 => drop(self.take(8)?),
            b'.' => return Some(false),
            b'(' => self.marks.push(self.stack.len()),
            b'0' => drop(self.stack.pop()?),
            b'1' => drop(self.since_mark()?),
            b'2' => self.stack.push(*self.stack.last()?),
            b'N' => self.leaf(Value::Null),
            0x88 => self.leaf(true.into()),
            0x89 => self.leaf(false.into()),
            b'K' => self.number(1, false)?,
            b'M' => self.number(2, false)?,
            b'J' => self.number(4, true)?,
            0x8a => {
                let length = self.length(1)?;
                self.number(length, true)?;
            }
            b'G' => {
                let float = u64::try_from(unsigned(self.take(8)?.iter())).ok()?;
                self.leaf(Number::from_f64(f64::from_bits(float)).map_or(Value::Null, Value::Number));
            }
            0x8c => self.text(1)?,
            b'X' => self.text(4)?,
            0x8d => self.text(8)?,
            b'C' => self.skip(1)?,
            b'B' => self.skip(4)?,
            0x8e | 0x96 => self.skip(8)?,
            b'c' => {
                self.line()?;
                self.line()?;
                self.push(PickleValue::Object(None));
            }
            0x93 => {
                self.stack.pop()?;
                self.stack.pop()?;
                self.push(PickleValue::Object(None));
            }
            // The class and its arguments become an object.
            b'R' | 0x81 => {
                self.stack.pop()?;
                self.stack.pop()?;
                self.push(PickleValue::Object(None));
            }
            0x92 => {
                self.stack.truncate(self.stack.len().checked_sub(3)?);
                self.push(PickleValue::Object(None));
            }
            b'b' => {
                let state = self.stack.pop()?;
                let place = *self.stack.last()?;
                if let PickleValue::Object(known) = self.made.get_mut(place)? {
                    *known = Some(state);
                }
            }
            b')' | b']' | 0x8f => self.push(PickleValue::List(Vec::new())),
            b'}' => self.push(PickleValue::Dict(Vec::new())),
            b't' | b'l' | 0x91 => {
                let items = self.since_mark()?;
                self.push(PickleValue::List(items));
            }
            count @ 0x85..=0x87 => {
                let items = self.stack.split_off(self.stack.len().checked_sub(usize::from(count - 0x84))?);
                self.push(PickleValue::List(items));
            }
            b'd' => {
                let pairs = pairs(&self.since_mark()?);
                self.push(PickleValue::Dict(pairs));
            }
            b'a' => {
                let item = self.stack.pop()?;
                self.extend(&[item])?;
            }
            b'e' | 0x90 | b'u' => {
                let items = self.since_mark()?;
                self.extend(&items)?;
            }
            b's' => {
                let items = self.stack.split_off(self.stack.len().checked_sub(2)?);
                self.extend(&items)?;
            }
            0x94 => self.memo.push(Some(*self.stack.last()?)),
            b'q' => self.put(1)?,
            b'r' => self.put(4)?,
            b'h' => self.get(1)?,
            b'j' => self.get(4)?,
            _ => return None,
        }
        Some(true)
    }

    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.bytes.split_first()?;
        self.bytes = rest;
        Some(*first)
    }

    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.bytes.split_at_checked(count)?;
        self.bytes = rest;
        Some(taken)
    }

    fn line(&mut self) -> Option<()> {
        let end = self.bytes.iter().position(|byte| *byte == b'\n')?;
        self.take(end + 1).map(drop)
    }

    /// A length in `width` bytes.
    fn length(&mut self, width: usize) -> Option<usize> {
        usize::try_from(unsigned(self.take(width)?.iter().rev())).ok()
    }

    fn number(&mut self, width: usize, signed: bool) -> Option<()> {
        let bytes = self.take(width)?;
        let number = match (width, bytes.last()) {
            // Larger ones are no number of JSON.
            (9.., _) => None,
            (_, Some(top)) if signed && *top >= 0x80 => {
                i64::try_from(unsigned(bytes.iter().rev()) - (1 << (8 * width))).ok()
            }
            _ => i64::try_from(unsigned(bytes.iter().rev())).ok(),
        };
        self.leaf(number.map_or(Value::Null, Value::from));
        Some(())
    }

    fn text(&mut self, width: usize) -> Option<()> {
        let length = self.length(width)?;
        let text = String::from_utf8_lossy(self.take(length)?).into_owned();
        self.leaf(text.into());
        Some(())
    }

    fn skip(&mut self, width: usize) -> Option<()> {
        let length = self.length(width)?;
        self.take(length)?;
        self.leaf(Value::Null);
        Some(())
    }

    fn leaf(&mut self, value: Value) {
        self.push(PickleValue::Leaf(value));
    }

    fn push(&mut self, made: PickleValue) {
        self.stack.push(self.made.len());
        self.made.push(made);
    }

    fn since_mark(&mut self) -> Option<Vec<ValueIndex>> {
        let mark = self.marks.pop()?;
        (mark <= self.stack.len()).then(|| self.stack.split_off(mark))
    }

    /// Adds to the list or the dictionary on top of the stack.
    fn extend(&mut self, items: &[ValueIndex]) -> Option<()> {
        match self.made.get_mut(*self.stack.last()?)? {
            PickleValue::List(list) => list.extend(items),
            PickleValue::Dict(dict) => dict.extend(pairs(items)),
            _ => {}
        }
        Some(())
    }

    fn put(&mut self, width: usize) -> Option<()> {
        let place = self.length(width)?;
        // A pickle numbers what it remembers one by one.
        if place > self.made.len() {
            return None;
        }
        if self.memo.len() <= place {
            self.memo.resize(place + 1, None);
        }
        *self.memo.get_mut(place)? = self.stack.last().copied();
        Some(())
    }

    fn get(&mut self, width: usize) -> Option<()> {
        let place = self.length(width)?;
        self.stack.push((*self.memo.get(place)?)?);
        Some(())
    }

    /// A value with its parts; `None` if there are too many, as in a list within itself.
    fn value(&self, place: ValueIndex, depth: usize, left: &mut usize) -> Option<Value> {
        *left = left.checked_sub(1)?;
        let depth = depth.checked_sub(1)?;
        Some(match self.made.get(place)? {
            PickleValue::Leaf(value) => {
                *left = left.checked_sub(value.as_str().map_or(0, str::len) / TEXT)?;
                value.clone()
            }
            PickleValue::List(items) => {
                Value::Array(items.iter().map(|item| self.value(*item, depth, left)).collect::<Option<_>>()?)
            }
            PickleValue::Dict(pairs) => {
                let mut members = Map::new();
                for (name, value) in pairs {
                    let name = match self.made.get(*name)? {
                        PickleValue::Leaf(Value::String(name)) => name.clone(),
                        PickleValue::Leaf(other) => other.to_string(),
                        _ => continue,
                    };
                    members.insert(name, self.value(*value, depth, left)?);
                }
                Value::Object(members)
            }
            PickleValue::Object(Some(state)) => self.value(*state, depth, left)?,
            PickleValue::Object(None) => Value::Null,
        })
    }
}

/// The number of these bytes, the highest first.
fn unsigned<'b>(bytes: impl Iterator<Item = &'b u8>) -> i128 {
    bytes.fold(0, |number, byte| (number << 8) | i128::from(*byte))
}

fn pairs(items: &[ValueIndex]) -> Vec<(ValueIndex, ValueIndex)> {
    items.chunks_exact(2).filter_map(|pair| Some((*pair.first()?, *pair.get(1)?))).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// `pickle.dumps({"a": [1, -2, 300, 2**40, 1.5, True, None, "é"], "b": ("x", {"x": "a"})}, protocol=4)`.
    const PLAIN: &[u8] =
        b"\x80\x04\x95:\x00\x00\x00\x00\x00\x00\x00}\x94(\x8c\x01a\x94]\x94(K\x01J\xfe\xff\xff\xffM,\x01\
        \x8a\x06\x00\x00\x00\x00\x00\x01G?\xf8\x00\x00\x00\x00\x00\x00\x88N\x8c\x02\xc3\xa9\x94e\x8c\x01b\x94\x8c\x01x\
        \x94}\x94h\x05h\x01s\x86\x94u.";

    #[test]
    fn plain_data_is_read() {
        let expected = json!({ "a": [1, -2, 300, 1_i64 << 40, 1.5, true, null, "é"], "b": ["x", { "x": "a" }] });
        assert_eq!(parse(PLAIN), Some(expected));
    }

    #[test]
    fn an_object_is_its_state() {
        let pickle = b"\x80\x04\x8c\x01m\x8c\x01C\x93)\x81}\x8c\x01k\x8c\x01vsb.";
        assert_eq!(parse(pickle), Some(json!({ "k": "v" })));
        assert_eq!(parse(b"\x80\x02cdatetime\ndatetime\nC\x02abR."), Some(Value::Null));
    }

    #[test]
    fn any_bytes_end() {
        for cut in 0..PLAIN.len() {
            assert_eq!(parse(&PLAIN[..cut]), None);
        }
        for place in 0..PLAIN.len() {
            for bit in 0..8 {
                let mut bytes = PLAIN.to_vec();
                bytes[place] ^= 1 << bit;
                let _ = parse(&bytes);
            }
        }
        // A list within itself, and one that doubles with every step.
        assert_eq!(parse(b"\x80\x04]\x94h\x00a."), None);
        let doubling: Vec<u8> = b"K\x01".iter().chain(b"2\x86".repeat(40).iter()).chain(b".").copied().collect();
        assert_eq!(parse(&doubling), None);
    }

    #[test]
    fn a_text_that_stands_in_many_places_has_a_limit() {
        let pickle = |places: usize| {
            let mut bytes = b"]\x94X\x00\x00\x01\x00".to_vec();
            bytes.extend([b'x'; 1 << 16]);
            bytes.extend(b"\x94a");
            (0..places).for_each(|_| bytes.extend(b"h\x01a"));
            bytes.push(b'.');
            parse(&bytes)
        };
        assert_eq!(pickle(3).and_then(|list| list.as_array().map(Vec::len)), Some(4));
        assert_eq!(pickle(10_000), None, "600 MB");
    }
}
