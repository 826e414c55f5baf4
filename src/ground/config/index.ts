/** The settings: read, checked, and shown. */
export { type Config, effectiveSettings, readConfig } from './config.ts'
export { withSecretsOfFiles } from './secrets.ts'
export {
  configSchema,
  environmentOf,
  type Flag,
  flagOf,
  flagsFromSchema,
  refusalOfSecret,
  settingByName,
  settings,
  withoutUser,
} from './settings.ts'
export { listOf } from './values.ts'
