/** The settings: read, checked, and shown. */
export { type Config, readConfig } from './config.ts'
export { effectiveSettings } from './effective-settings.ts'
export { environmentOf, type Flag, flagOf, flagsFromSchema, refusalOfSecret } from './flags.ts'
export { requireKnown } from './known-options.ts'
export { withoutUser } from './messages.ts'
export { withSecretsOfFiles } from './secret-files.ts'
export { configSchema, settingByName, settings } from './settings.ts'
export { hasUser, listOf } from './values.ts'
