/** The settings: read, checked, and shown. */
export { type Config, readConfig } from './config.ts'
export { effectiveSettings } from './effective-settings.ts'
export { environmentOf, type Flag, flagOf, flagsFromSchema, refusalOfSecret } from './flags.ts'
export { withoutUser } from './messages.ts'
export { withSecretsOfFiles } from './secret-files.ts'
export { configSchema, settingByName, settings } from './settings.ts'
export { listOf } from './values.ts'
