/** Retention times of topics. */
import kafkajs, { type Admin } from 'kafkajs'

/**
 * Retention by topic, in ms; Infinity for unlimited. Leaves out a topic whose settings the principal has no right to see. Never
 * rejects.
 */
export async function retentionsOf(admin: Admin, topics: readonly string[]): Promise<Map<string, number>> {
  const kept = new Map<string, number>()
  if (topics.length === 0) return kept
  const configNames = ['retention.ms', 'cleanup.policy']
  const resources = topics.map((name) => ({ type: kafkajs.ConfigResourceTypes.TOPIC, name, configNames }))
  const described = await admin.describeConfigs({ includeSynonyms: false, resources }).catch(() => undefined)
  for (const { resourceName, configEntries } of described?.resources ?? []) {
    const settingOf = (name: string): string | undefined =>
      configEntries.find(({ configName }) => configName === name)?.configValue
    const retentionMs = Number(settingOf('retention.ms'))
    if (Number.isNaN(retentionMs)) continue
    const deletes = settingOf('cleanup.policy')?.includes('delete') ?? true
    kept.set(resourceName, deletes && retentionMs >= 0 ? retentionMs : Number.POSITIVE_INFINITY)
  }
  return kept
}
