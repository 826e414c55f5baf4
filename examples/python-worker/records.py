"""Decodes and encodes the records of the topics: five bytes, then Avro, with schemas from the registry."""

import io
import json
import urllib.error
import urllib.parse
import urllib.request

import fastavro

HEADER_BYTES = 5  # a zero, then the schema's id in four bytes, big endian


class Undecodable(Exception):
    """These bytes can never be decoded. If the registry does not answer, it is an OSError, and a later try may succeed."""


class Records:
    def __init__(self, registry_url):
        self._url = registry_url.rstrip("/")
        self._schemas = {}

    def decode(self, value):
        if value is None or len(value) < HEADER_BYTES or value[0] != 0:
            raise Undecodable("the value does not begin with a zero and a schema id")
        schema = self._schema(int.from_bytes(value[1:HEADER_BYTES], "big"))
        try:
            # A field that a later Duelog adds is one more key, which changes nothing here.
            return fastavro.schemaless_reader(io.BytesIO(value[HEADER_BYTES:]), schema)
        except Exception as error:
            raise Undecodable(f"{type(error).__name__}: {error}") from error

    def encoder(self, topic):
        """Writes values for this topic with the latest schema of its subject, which Duelog has registered."""
        latest = self._get(f"/subjects/{urllib.parse.quote(topic + '-value')}/versions/latest")
        header = b"\0" + latest["id"].to_bytes(4, "big")
        schema = fastavro.parse_schema(json.loads(latest["schema"]))

        def encode(value):
            out = io.BytesIO()
            fastavro.schemaless_writer(out, schema, value)
            return header + out.getvalue()

        return encode

    def _schema(self, schema_id):
        if schema_id not in self._schemas:
            try:
                text = self._get(f"/schemas/ids/{schema_id}")["schema"]
            except urllib.error.HTTPError as error:
                if error.code == 404:
                    raise Undecodable(f"the registry has no schema {schema_id}") from error
                raise
            self._schemas[schema_id] = fastavro.parse_schema(json.loads(text))
        return self._schemas[schema_id]

    def _get(self, path):
        with urllib.request.urlopen(self._url + path, timeout=10) as answer:
            return json.load(answer)
