# mypy: ignore-errors
"""The tasks of `docs/src/python-tasks.md` with Chroma, by the numbers there. Run with chromadb 1.5.9."""

import chromadb
import numpy as np
import pandas as pd

texts = ["The ferry leaves from pier nine", "The harbour was dredged in spring", "Deploys go out on Tuesdays"]
years = [2021, 2024, 2024]
frame = pd.DataFrame({"text": ["The lighthouse has a new lamp", "The pilot boat is blue"], "year": [2022, 2023]})


def embed(texts):
    return np.array([[text.lower().count(letter) for letter in "abcdefghijklmnopqrstuvwxyz"] for text in texts], "f4")


# 1
class Embed(chromadb.EmbeddingFunction):
    def __init__(self):
        pass

    def __call__(self, input):
        return embed(input)


client = chromadb.PersistentClient("notes")
collection = client.create_collection("notes", embedding_function=Embed())
# 2
collection.add(ids=["1", "2", "3"], documents=texts, metadatas=[{"year": year} for year in years])
# 3
collection.query(query_texts=["which pier does the ferry leave from?"], n_results=2)["documents"][0][0]
# 4
collection.query(query_texts=["harbour"], where={"year": {"$gte": 2024}})["documents"][0][0]
# 5
collection.get(where_document={"$contains": "dredged"})["documents"][0]
# 6
vector = embed(["a buoy"])[0]
collection.add(ids=["4"], documents=["A buoy was moved"], embeddings=[vector])
collection.query(query_embeddings=[vector], n_results=1)["documents"][0][0]
# 7
collection.add(
    ids=["5", "6"], documents=frame["text"].tolist(), metadatas=frame[["year"]].to_dict("records")
)
# 8
collection.update(ids=["3"], documents=["Deploys go out on Thursdays"], metadatas=[{"year": 2025}])
# 9
collection.delete(where={"year": {"$lt": 2022}})
# 10
[embedding.shape for embedding in collection.get(ids=["2", "3"], include=["embeddings"])["embeddings"]]
# 11
collection.count()
for offset in range(0, collection.count(), 2):
    for text in collection.get(limit=2, offset=offset)["documents"]:
        print(text)
# 12
[ids[0] for ids in collection.query(query_texts=["harbour", "deploys"], n_results=1)["ids"]]
