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
    #[prost(string, tag = "8")]
    name: String,
    #[prost(bytes = "bytes", tag = "9")]
    raw_data: Bytes,
}

/// `TensorProto.DataType`.
const FLOAT: i32 = 1;
const INT8: i32 = 3;

/// The suffixes of a tensor in 8 bits and of its scales.
const QUANTISED: &str = "_q";
const SCALE: &str = "_scale";

/// The initialisers of a file, by name.
pub struct Initialisers {
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

impl Initialisers {
    /// Reads an ONNX file.
    pub fn read(onnx: Bytes) -> Result<Self> {
        let model = ModelProto::decode(onnx).map_err(|error| other_model(&format!("it cannot be read: {error}")))?;
        let tensors = model.graph.unwrap_or_default().initializer;
        let quantised = tensors.iter().filter_map(|tensor| tensor.name.strip_suffix(QUANTISED).map(str::to_owned));
        let quantised = quantised.collect();
        Ok(Initialisers {
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
        let bytes = &self.tensor(name, FLOAT)?.raw_data;
        let (numbers, rest) = bytes.as_chunks::<4>();
        if numbers.len() != len || !rest.is_empty() {
            return Err(other_model(&format!("{name} has {} bytes, not those of {len} numbers", bytes.len())));
        }
        Ok(numbers.iter().map(|number| f32::from_le_bytes(*number)).collect())
    }

    /// A tensor in 8 bits of this shape, with so many scales.
    pub fn quantised_tensor(&self, name: &str, shape: [usize; 2], scales: usize) -> Result<Quantised> {
        let tensor = self.tensor(&format!("{name}{QUANTISED}"), INT8)?;
        let same = tensor.dims.iter().map(|dim| usize::try_from(*dim).unwrap_or(0)).eq(shape);
        if !same || tensor.raw_data.len() != shape[0] * shape[1] {
            return Err(other_model(&format!("{name} has the shape {:?}, not {shape:?}", tensor.dims)));
        }
        let scales = self.floats(&format!("{name}{SCALE}"), scales)?;
        Ok(Quantised { values: tensor.raw_data.clone(), scales })
    }

    fn tensor(&self, name: &str, data_type: i32) -> Result<&TensorProto> {
        let tensor = self.tensors.get(name).filter(|tensor| tensor.data_type == data_type);
        tensor.ok_or_else(|| other_model(&format!("it has no {name} of the type {data_type}")))
    }
}

/// The error for a file that is not the model that this crate runs.
pub fn other_model(why: &str) -> Error {
    Error::Unusable(format!("this is not the ONNX file of all-MiniLM-L6-v2 with 8-bit weights: {why}"))
}
