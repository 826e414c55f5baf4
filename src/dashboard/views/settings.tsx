/** Settings and topics of the process that serves this page. The API sends no secrets. */
import { ask, count, duration, type Settings, useResource } from '../model/index.ts'
import { Heading, Loading, Problem, Prose, Table } from '../parts/index.ts'

export function SettingsView() {
  const { value, problem } = useResource('settings', (signal) => ask<Settings>('/v1/settings', { signal }), false)
  const known = value.value
  return (
    <>
      <Heading title="Settings">
        <p class="beside">Effective settings of the process that serves this page. They are set at startup.</p>
      </Heading>
      <Problem problem={problem.value} known={known !== undefined} />
      {known === undefined && problem.value === undefined && <Loading what="settings" />}
      {known !== undefined && <SettingTable settings={known.settings} />}
      {known !== undefined && (
        <>
          <h2>Topics</h2>
          <p class="beside">Each has {count(known.partitions)} partitions.</p>
          <TopicTable topics={known.topics} />
        </>
      )}
    </>
  )
}

function SettingTable({ settings }: Pick<Settings, 'settings'>) {
  return (
    <Table of="settings" columns={['Setting', 'Value', 'Description']} class="settings">
      {settings.map(({ name, value, given, secret, unit, description }) => (
        <tr key={name}>
          <th scope="row" class="code">
            {name}
          </th>
          <td class="value">
            {secret ? (
              <span class="aside">{given ? 'set, hidden' : 'not set'}</span>
            ) : (
              <>
                <span class="code">{value ?? '—'}</span> {value !== null && unit}{' '}
                {unit === 'ms' && Number(value) >= 1_000 && <span class="brief">({duration(Number(value))})</span>}{' '}
                {given && <span class="aside">set</span>}
              </>
            )}
          </td>
          <td class="words">
            <Prose of={description} />
          </td>
        </tr>
      ))}
    </Table>
  )
}

function TopicTable({ topics }: Pick<Settings, 'topics'>) {
  return (
    <Table of="topics" columns={['Topic', 'Schema', 'Retention']}>
      {topics.map(({ topic, schema, config }) => (
        <tr key={topic}>
          <th scope="row" class="code">
            {topic}
          </th>
          <td>{schema.replaceAll('-', ' ')}</td>
          <td>{retentionText(config)}</td>
        </tr>
      ))}
    </Table>
  )
}

function retentionText(config: Record<string, string>): string {
  const retention = config['retention.ms']
  const tombstones = config['delete.retention.ms']
  if (config['cleanup.policy'] === 'compact')
    return `latest record of each key${tombstones === undefined ? '' : `; tombstones for ${duration(Number(tombstones))}`}`
  return retention === undefined ? 'broker default' : duration(Number(retention))
}
