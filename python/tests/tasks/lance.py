# mypy: ignore-errors
"""The tasks of `docs/src/python-tasks.md` with LanceDB, by the numbers there. Run with lancedb 0.40.0."""

import lancedb
import numpy as np
import pandas as pd
from lancedb.embeddings import TextEmbeddingFunction, register
from lancedb.pydantic import LanceModel, Vector

texts = ["The ferry leaves from pier nine", "The harbour was dredged in spring", "Deploys go out on Tuesdays"]
years = [2021, 2024, 2024]
frame = pd.DataFrame({"text": ["The lighthouse has a new lamp", "The pilot boat is blue"], "year": [2022, 2023]})


def embed(texts):
    return np.array([[text.lower().count(letter) for letter in "abcdefghijklmnopqrstuvwxyz"] for text in texts], "f4")


# 1
@register("letters")
class Embed(TextEmbeddingFunction):
    def generate_embeddings(self, texts):
        return embed(texts)

    def ndims(self):
        return 26


function = Embed.create()


class Note(LanceModel):
    id: int
    text: str = function.SourceField()
    vector: Vector(26) = function.VectorField()
    year: int


db = lancedb.connect("notes")
table = db.create_table("notes", schema=Note)
# 2
table.add([{"id": id, "text": text, "year": year} for id, (text, year) in enumerate(zip(texts, years), 1)])
# 3
table.search("which pier does the ferry leave from?").limit(2).to_list()[0]["text"]
# 4
table.search("harbour").where("year >= 2024", prefilter=True).to_list()[0]["text"]
# 5
table.create_fts_index("text")
table.search("dredged", query_type="fts").to_list()[0]["text"]
# 6
vector = embed(["a buoy"])[0]
table.add([{"id": 4, "text": "A buoy was moved", "vector": vector, "year": 0}])
table.search(vector).limit(1).to_list()[0]["text"]
# 7
table.add(frame.assign(id=[5, 6]))
# 8
changed = "Deploys go out on Thursdays"
table.update(where="id = 3", values={"text": changed, "vector": embed([changed])[0], "year": 2025})
# 9
table.delete("year < 2022")
# 10
[len(row["vector"]) for row in table.search().where("id in (2, 3)").select(["vector"]).to_list()]
# 11
table.count_rows()
for batch in table.search().select(["text"]).limit(None).to_batches(2):
    for text in batch["text"]:
        print(text)
# 12
[row["id"] for row in table.search(embed(["harbour", "deploys"])).limit(1).to_list()]
