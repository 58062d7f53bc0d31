//! The weights in an ONNX file: its initialisers, and nothing else of the graph.

use std::collections::HashMap;

use prost::Message;
use prost::bytes::Bytes;

use crate::error::{Error, Result};

/// `ModelProto` of onnx.proto, as far as it is needed.
#[derive(Message)]
struct ModelProto {
    #[prost(message, optional, tag = "7")]
    graph: Option<GraphProto>,
}

#[derive(Message)]
struct GraphProto {
    #[prost(message, repeated, tag = "5")]
    initializer: Vec<TensorProto>,
}

#[derive(Message)]
struct TensorProto {
    #[prost(int64, repeated, tag = "1")]
    dims: Vec<i64>,
    #[prost(int32, tag = "2")]
    data_type: i32,
    #[prost(float, repeated, tag = "4")]
    float_data: Vec<f32>,
    #[prost(int32, repeated, tag = "5")]
    int32_data: Vec<i32>,
    #[prost(string, tag = "8")]
    name: String,
    #[prost(bytes = "bytes", tag = "9")]
    raw_data: Bytes,
}

/// `TensorProto.DataType`.
const FLOAT: i32 = 1;
const UINT8: i32 = 2;
const INT8: i32 = 3;

/// The suffixes of the scales of a tensor in 8 bits, and of its zero.
const SCALE: &str = "_scale";
const ZERO: &str = "_zero_point";

/// An ONNX file whose weights can be read.
#[derive(Debug, Clone, Copy)]
pub struct OnnxFile {
    /// The name of the model.
    pub model: &'static str,
    /// The suffix of the names of tensors in 8 bits.
    pub quantised: &'static str,
}

/// The initialisers of a file, by name.
pub struct Initialisers {
    pub file: OnnxFile,
    tensors: HashMap<String, TensorProto>,
    /// The names of those in 8 bits, without the suffix, in the order of the file.
    quantised: Vec<String>,
}

/// A tensor in 8 bits: `value * scale`.
pub struct Quantised {
    /// Values, `[rows, columns]`.
    pub values: Bytes,
    /// A scale for each row or each column.
    pub scales: Vec<f32>,
}

/// A tensor in 8 bits without a sign: `(value - zero) * scale`.
pub struct Shifted {
    values: Bytes,
    scale: f32,
    zero: i32,
}

impl Shifted {
    /// The numbers of rows of this width.
    pub fn rows(&self, width: usize) -> impl Iterator<Item = Vec<f32>> {
        let number = |value: &u8| (i32::from(*value) - self.zero) as f32 * self.scale;
        self.values.chunks_exact(width).map(move |row| row.iter().map(number).collect())
    }
}

impl Initialisers {
    pub fn read(onnx: Bytes, file: OnnxFile) -> Result<Self> {
        let model = ModelProto::decode(onnx).map_err(|error| file.other(&format!("it cannot be read: {error}")))?;
        let tensors = model.graph.unwrap_or_default().initializer;
        let quantised = tensors.iter().filter_map(|tensor| tensor.name.strip_suffix(file.quantised).map(str::to_owned));
        let quantised = quantised.collect();
        Ok(Initialisers {
            file,
            tensors: tensors.into_iter().map(|tensor| (tensor.name.clone(), tensor)).collect(),
            quantised,
        })
    }

    /// The names of the matrices in 8 bits, in the order of the file.
    pub fn quantised(&self) -> &[String] {
        &self.quantised
    }

    /// The floats of a tensor of `len` numbers.
    pub fn floats(&self, name: &str, len: usize) -> Result<Vec<f32>> {
        let tensor = self.tensor(name, FLOAT)?;
        let (numbers, rest) = tensor.raw_data.as_chunks::<4>();
        let numbers: Vec<f32> = match tensor.float_data.is_empty() {
            true => numbers.iter().map(|number| f32::from_le_bytes(*number)).collect(),
            false => tensor.float_data.clone(),
        };
        if numbers.len() != len || !rest.is_empty() {
            return Err(self.file.other(&format!("{name} has {} numbers, not {len}", numbers.len())));
        }
        Ok(numbers)
    }

    /// A tensor in 8 bits of this shape, with so many scales.
    pub fn quantised_tensor(&self, name: &str, shape: [usize; 2], scales: usize) -> Result<Quantised> {
        let values = self.bytes(name, INT8, shape)?;
        let scales = self.floats(&format!("{name}{SCALE}"), scales)?;
        Ok(Quantised { values, scales })
    }

    /// A matrix of `[inputs, outputs]` in 8 bits, with a scale for each output; the file may have one for all.
    pub fn matrix(&self, name: &str, shape: [usize; 2]) -> Result<Quantised> {
        let values = self.bytes(name, INT8, shape)?;
        let name = format!("{name}{SCALE}");
        let scales = match self.tensor(&name, FLOAT)?.float_data[..] {
            [one] => vec![one; shape[1]],
            _ => self.floats(&name, shape[1])?,
        };
        Ok(Quantised { values, scales })
    }

    /// A tensor in 8 bits without a sign, of this shape.
    pub fn shifted_tensor(&self, name: &str, shape: [usize; 2]) -> Result<Shifted> {
        let values = self.bytes(name, UINT8, shape)?;
        let scale = self.floats(&format!("{name}{SCALE}"), 1)?[0];
        let zero = &self.tensor(&format!("{name}{ZERO}"), UINT8)?.int32_data;
        let zero = zero.first().ok_or_else(|| self.file.other(&format!("{name} has no zero")))?;
        Ok(Shifted { values, scale, zero: *zero })
    }

    fn bytes(&self, name: &str, data_type: i32, shape: [usize; 2]) -> Result<Bytes> {
        let tensor = self.tensor(&format!("{name}{}", self.file.quantised), data_type)?;
        let same = tensor.dims.iter().map(|dim| usize::try_from(*dim).unwrap_or(0)).eq(shape);
        if !same || tensor.raw_data.len() != shape[0] * shape[1] {
            return Err(self.file.other(&format!("{name} has the shape {:?}, not {shape:?}", tensor.dims)));
        }
        Ok(tensor.raw_data.clone())
    }

    fn tensor(&self, name: &str, data_type: i32) -> Result<&TensorProto> {
        let tensor = self.tensors.get(name).filter(|tensor| tensor.data_type == data_type);
        tensor.ok_or_else(|| self.file.other(&format!("it has no {name} of the type {data_type}")))
    }
}

impl OnnxFile {
    /// The error for a file that is another.
    pub fn other(&self, why: &str) -> Error {
        Error::Unusable(format!("this is not the ONNX file of {} with 8-bit weights: {why}", self.model))
    }
}
