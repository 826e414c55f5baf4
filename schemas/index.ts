/** What a record is: its fields with units, defaults and limits. Also the Kafka ACLs that each role needs, and the settings. */
export { type AccessNames, type AccessRole, type AclEntry, type AclOperation, accessOf, accessRoles } from './access.ts'
export { type AvroField, type AvroRecord, fieldOf, type Names, type Shape, shapeOf } from './avro-schema.ts'
export { default as settingsSchema } from './config.json' with { type: 'json' }
export * from './generated.ts'
export type { Environment, SettingValues } from './settings.ts'
export { schemaTexts } from './texts.ts'
