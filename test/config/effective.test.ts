import { describe, expect, it } from 'vitest'
import { effectiveSettings, readConfig } from '../../src/ground/config/config.ts'
import { settings } from '../../src/ground/config/settings.ts'

const shown = (env: Record<string, string>) =>
  new Map(effectiveSettings(readConfig(env)).map((setting) => [setting.name, setting]))

describe('the settings that are shown', () => {
  it('are all there are, as they were given or by their default', () => {
    const all = shown({ DUELOG_HTTP_PORT: '9000' })
    expect([...all.keys()]).toEqual(settings.map(({ name }) => name))
    expect(all.get('DUELOG_HTTP_PORT')).toMatchObject({ value: '9000', given: true })
    expect(all.get('DUELOG_TOPIC_PREFIX')).toMatchObject({ value: 'duelog.', given: false })
    expect(all.get('KAFKA_BROKERS')).toMatchObject({ value: null, given: false })
  })

  it('have the defaults of a cluster where brokers are given', () => {
    const cluster = shown({ KAFKA_BROKERS: 'b:9092', SCHEMA_REGISTRY_URL: 'http://r' })
    expect([shown({}).get('DUELOG_PARTITIONS')?.value, cluster.get('DUELOG_PARTITIONS')?.value]).toEqual(['4', '32'])
  })

  it('hold no secret, not even within an address', () => {
    const env = {
      KAFKA_BROKERS: 'b:9092',
      SCHEMA_REGISTRY_URL: 'http://r:8081/?key=hidden-word',
      DUELOG_API_TOKENS: 'admin:hidden-word-0123456789',
    }
    expect(JSON.stringify(effectiveSettings(readConfig(env)))).not.toContain('hidden-word')
    expect(shown(env).get('SCHEMA_REGISTRY_URL')?.value).toBe('http://r:8081/?…')
    expect(shown(env).get('DUELOG_API_TOKENS')).toMatchObject({ value: null, given: true, secret: true })
  })
})
