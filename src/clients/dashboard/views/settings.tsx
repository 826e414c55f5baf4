/** Settings and topics of the process that serves this page. The API sends no secrets. */
import { api, count, duration, type Settings, useResource } from '../model/index.ts'
import { Answer, column, Heading, head, Prose, Table } from '../parts/index.ts'

type Setting = Settings['settings'][number]
type Topic = Settings['topics'][number]

export function SettingsView() {
  const known = useResource('settings', (signal) => api.getSettings({ signal }), false)
  return (
    <>
      <Heading title="Settings">
        <p class="beside">Effective settings of the process that serves this page. They are set at startup.</p>
      </Heading>
      <Answer of={known} what="settings">
        {({ settings, partitions, topics }) => (
          <>
            <Table of="settings" columns={settingColumns} rows={settings} keyOf={({ name }) => name} class="settings" />
            <h2>Topics</h2>
            <p class="beside">Each has {count(partitions)} partitions.</p>
            <Table of="topics" columns={topicColumns} rows={topics} keyOf={({ topic }) => topic} />
          </>
        )}
      </Answer>
    </>
  )
}

const settingColumns = [
  head<Setting>('Setting', ({ name }) => name, { class: 'code' }),
  column<Setting>('Value', (setting) => <SettingValue {...setting} />, { class: 'value' }),
  column<Setting>('Description', ({ description }) => <Prose of={description} />, { class: 'words' }),
]

function SettingValue({ value, given, secret, unit }: Setting) {
  if (secret) return <span class="aside">{given ? 'set, hidden' : 'not set'}</span>
  return (
    <>
      <span class="code">{value ?? '—'}</span> {value !== null && unit}{' '}
      {unit === 'ms' && Number(value) >= 1_000 && <span class="brief">({duration(Number(value))})</span>}{' '}
      {given && <span class="aside">set</span>}
    </>
  )
}

const topicColumns = [
  head<Topic>('Topic', ({ topic }) => topic, { class: 'code' }),
  column<Topic>('Schema', ({ schema }) => schema.replaceAll('-', ' ')),
  column<Topic>('Retention', ({ config }) => retentionText(config)),
]

function retentionText(config: Record<string, string>): string {
  const retention = config['retention.ms']
  const tombstones = config['delete.retention.ms']
  if (config['cleanup.policy'] === 'compact')
    return `latest record of each key${tombstones === undefined ? '' : `; tombstones for ${duration(Number(tombstones))}`}`
  return retention === undefined ? 'broker default' : duration(Number(retention))
}
