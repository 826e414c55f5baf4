/** The JSON of a job without the fields that say what holds anyway: what its author wrote, or had to write. */
import { type AvroRecord, jobDefinitionSchema, type Names, type Shape, shapeOf } from '../../schemas/index.ts'
import { jsonType } from '../text/index.ts'
import { isObject, recordWriter } from './record-json.ts'

type Json = Record<string, unknown>
type Cut = (json: Json) => Json

/** The JSON of a definition without the fields that have their default. A reader makes the same definition of it. */
export function withoutDefaults(definition: object): Json {
  const { contentType, ...json } = cut(definition as Json)
  // A reader gives a payload this media type if there is none.
  const isUsual = contentType === undefined || (contentType === jsonType && json.payload !== undefined)
  return isUsual ? json : { ...json, contentType }
}

const cut = cutterOf(jobDefinitionSchema, new Map())

function cutterOf(record: AvroRecord, names: Names): Cut {
  names.set(record.name, record)
  const fields = new Map(
    record.fields.map((field) => {
      const shape: Shape = shapeOf(field.type, names)
      const write = recordWriter({ ...record, fields: [field] })
      const usual = 'default' in field ? JSON.stringify(write({ [field.name]: field.default })[field.name]) : undefined
      return [
        field.name as string,
        { usual, inner: shape.kind === 'record' ? cutterOf(shape.record, names) : undefined },
      ] as const
    }),
  )
  return (json) => {
    const kept: Json = {}
    for (const [name, value] of Object.entries(json)) {
      const { usual, inner } = fields.get(name) ?? {}
      if (usual !== undefined && JSON.stringify(value) === usual) continue
      // Which of several fields is set must stay visible.
      kept[name] = inner !== undefined && isObject(value) ? inner(value) : value
    }
    return kept
  }
}
