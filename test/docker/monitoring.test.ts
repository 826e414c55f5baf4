/** Alert rules and the dashboard of Grafana: valid, made of metrics that exist, explained in the runbook, and raised by recorded series. */
import { execFileSync, spawnSync } from 'node:child_process'
import { cp, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, test } from 'vitest'
import { parse } from 'yaml'
import { newMetrics } from '../../src/ground/metrics/index.ts'
import { temporaryFolder } from '../faults/harness.ts'
import { readHouseFile } from '../house/tree.ts'
import { alertTimelines, timedAlerts } from './alert-limits.ts'

interface Rule {
  alert: string
  expr: string
  for?: string
  labels: Record<string, string>
  annotations: Record<string, string>
}
interface Panel {
  id: number
  type: string
  title: string
  description?: string
  gridPos: { h: number; w: number; x: number; y: number }
  targets?: { expr: string; refId: string; legendFormat: string }[]
}
interface AlertTest {
  name: string
  input_series: { series: string; values: string }[]
  alert_rule_test: { eval_time: string; alertname: string; exp_alerts: unknown[] }[]
}
const rulesPath = 'docker/prometheus/alerts/duelog.yaml'
const { groups } = parse(readHouseFile(rulesPath).text) as { groups: { name: string; rules: Rule[] }[] }
const rules = groups.flatMap((group) => group.rules)
const { tests } = parse(readHouseFile('test/docker/alerts.test.yaml').text) as { tests: AlertTest[] }
const dashboard = JSON.parse(readHouseFile('docker/grafana/dashboards/duelog.json').text) as {
  uid: string
  schemaVersion: number
  panels: Panel[]
  templating: { list: { name: string; definition?: string }[] }
}
const charts = dashboard.panels.filter(({ type }) => type !== 'row')
const variables = dashboard.templating.list
const queries = charts.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => ({ place: title, expr })))
const definitions = variables.flatMap(({ name, definition }) =>
  definition === undefined ? [] : [{ place: name, expr: definition }],
)

/** Labels that Prometheus adds to each series, those of a process among several, and the bounds of buckets. */
const anyLabels = ['job', 'instance', 'process', 'le']

/** Each metric that a process shows, with its labels. A histogram shows three series. */
const shown = new Map<string, string[]>()
for (const metric of newMetrics().registry.getMetricsAsArray() as unknown as {
  name: string
  type: string
  labelNames: string[]
}[]) {
  const ends = metric.type === 'histogram' ? ['_bucket', '_sum', '_count'] : ['']
  for (const end of ends) shown.set(`${metric.name}${end}`, metric.labelNames)
}
shown.set('up', [])

/** What a query names that no process shows. */
function unknownIn(expr: string): string[] {
  const bare = expr.replace(/"[^"]*"/g, '""')
  const names = bare.match(/\b(duelog_|nodejs_|process_)\w+|\bup\b/g) ?? []
  const labels = Array.from(bare.matchAll(/(\w+)\{([^}]*)\}/g), ([, name = '', inside = '']) => ({
    name,
    used: Array.from(inside.matchAll(/(\w+)\s*(?:=~|!~|!=|=)/g), ([, label = '']) => label),
  }))
  const grouped = Array.from(bare.matchAll(/\b(?:by|on) \(([^)]*)\)/g), ([, list = '']) => list.split(/[ ,]+/)).flat()
  const known = new Set([...anyLabels, ...names.flatMap((name) => shown.get(name) ?? [])])
  return [
    ...names.filter((name) => !shown.has(name)),
    ...labels.flatMap(({ name, used }) =>
      used.filter((label) => ![...anyLabels, ...(shown.get(name) ?? [])].includes(label)).map((label) => `${name}{${label}}`),
    ),
    ...grouped.filter((label) => label !== '' && !known.has(label)).map((label) => `by (${label})`),
  ]
}

test('rules and charts name only metrics and labels that a process shows', () => {
  const used = [...rules.map(({ alert, expr }) => ({ place: alert, expr })), ...queries]
  expect(used.length).toBeGreaterThan(60)
  for (const { place, expr } of used) {
    expect(unknownIn(expr), place).toEqual([])
    expect(expr, place).toMatch(/\b(duelog_|nodejs_|process_|up\b)/)
  }
})

test('red: a metric and labels that do not exist', () => {
  expect(unknownIn('sum by (pool) (rate(duelog_runs_total{status="DEAD"}[5m]))')).toEqual(['by (pool)'])
  expect(unknownIn('duelog_running{pool="a",host="b"} > duelog_runing')).toEqual(['duelog_runing', 'duelog_running{host}'])
  expect(unknownIn('histogram_quantile(0.9, sum by (le) (rate(duelog_commit_seconds_bucket[5m]))) + up{job="x"}')).toEqual([])
})

describe('alert rules', () => {
  it('say how grave it is, what happened, and where the runbook is', () => {
    const anchors = new Set(Array.from(readHouseFile('docs/RUNBOOK.md').text.matchAll(/^### (\w+)$/gm), ([, name = '']) => name))
    expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length)
    for (const { alert, labels, annotations } of rules) {
      expect(['critical', 'warning'], alert).toContain(labels.severity)
      expect(annotations.summary, alert).toMatch(/^.{20,}\.({{ end }})?$/)
      expect(annotations.runbook_url, alert).toBe(`docs/RUNBOOK.md#${alert.toLowerCase()}`)
      expect(anchors, alert).toContain(alert)
    }
    expect([...anchors].filter((name) => !rules.some(({ alert }) => alert === name))).toEqual([])
  })

  it('have an entry of three parts each in the runbook', () => {
    const entries = readHouseFile('docs/RUNBOOK.md').text.split(/^### /m).slice(1)
    for (const entry of entries) {
      expect(entry, entry.slice(0, 40)).toContain('**What happened:**')
      expect(entry, entry.slice(0, 40)).toMatch(/\*\*Look:\*\*[\s\S]*\*\*Do:\*\*|\*\*Look and do:\*\*/)
    }
  })

  it('have recorded series that raise them, and others that do not', () => {
    expect(tests.map(({ name }) => name)).toEqual(['raised', 'silent'])
    for (const { name, input_series, alert_rule_test } of tests) {
      const named = new Set(alert_rule_test.map(({ alertname }) => alertname))
      expect([...named].toSorted(), name).toEqual(rules.map(({ alert }) => alert).toSorted())
      for (const { alertname, exp_alerts } of alert_rule_test) expect(exp_alerts.length > 0, alertname).toBe(name === 'raised')
      for (const { series } of input_series) expect(unknownIn(series), name).toEqual([])
    }
    // A rule is silent for lack of series, unless each of its metrics is among the silent ones too.
    const silent = new Set(tests[1]?.input_series.map(({ series }) => series.split('{')[0]))
    for (const { alert, expr } of rules)
      for (const name of expr.match(/\b(duelog_|nodejs_|process_)\w+|\bup\b/g) ?? []) expect(silent, alert).toContain(name)
  })

  it('have limits that are tried from both sides', () => {
    expect(timedAlerts.toSorted()).toEqual(rules.map(({ alert }) => alert).toSorted())
  })

  it('use each alert of the dashboard', () => {
    const mentioned = charts.flatMap(({ description }) => description?.match(/Duelog[A-Z]\w+/g) ?? [])
    expect(mentioned.length).toBeGreaterThan(4)
    for (const name of mentioned) expect(rules.map(({ alert }) => alert)).toContain(name)
  })
})

describe('the dashboard', () => {
  it('has charts that say what they show, without overlaps', () => {
    const cells = new Set<string>()
    for (const { title, type, description, gridPos, targets, id } of dashboard.panels) {
      expect(
        dashboard.panels.filter((panel) => panel.id === id || panel.title === title),
        title,
      ).toHaveLength(1)
      expect(gridPos.x + gridPos.w, title).toBeLessThanOrEqual(24)
      for (let x = gridPos.x; x < gridPos.x + gridPos.w; x++)
        for (let y = gridPos.y; y < gridPos.y + gridPos.h; y++) {
          expect(cells.has(`${x}/${y}`), title).toBe(false)
          cells.add(`${x}/${y}`)
        }
      if (type === 'row') continue
      expect(description, title).toMatch(/.{10,}\.$/)
      const refs = targets?.map(({ refId }) => refId) ?? []
      expect(new Set(refs).size, title).toBe(refs.length)
      for (const { expr, legendFormat } of targets ?? [])
        for (const [, label = ''] of legendFormat.matchAll(/\{\{(\w+)\}\}/g))
          if (!['instance', 'process'].includes(label)) expect(expr, `${title}: ${legendFormat}`).toContain(label)
    }
    expect(dashboard).toMatchObject({ uid: 'duelog', schemaVersion: 41 })
  })

  it('asks one system only, and only by variables that it has', () => {
    for (const { place, expr } of [...queries, ...definitions]) {
      if (!expr.startsWith('label_values(duelog_partitions, job)')) expect(expr, place).toContain('job="$job"')
      for (const [, name = ''] of expr.matchAll(/\$(?!__)(\w+)/g))
        expect(
          variables.map((each) => each.name),
          place,
        ).toContain(name)
    }
  })
})

const promtool = spawnSync('promtool', ['--version'], { encoding: 'utf8' }).error === undefined

test(`promtool ${promtool ? 'raises each alert by its series, and reads each query' : 'is not installed: rules and queries were read by their structure alone'}`, async (context) => {
  const folder = await temporaryFolder(context)
  // As Grafana does it. The queries become rules that record, because promtool reads only files of rules.
  const recorded = queries.map(({ expr }, at) => ({
    record: `chart_${at}`,
    expr: expr.replaceAll('$__rate_interval', '1m').replaceAll(/\$\w+/g, 'any'),
  }))
  await writeFile(join(folder, 'queries.yaml'), JSON.stringify({ groups: [{ name: 'charts', rules: recorded }] }))
  if (!promtool) {
    // What remains without it: brackets that close, and times that are times.
    for (const { expr } of [...rules, ...queries]) expect(isBalanced(expr), expr).toBe(true)
    for (const { alert, for: time = '0s' } of rules) expect(time, alert).toMatch(/^\d+[smh]$/)
    return
  }
  const root = fileURLToPath(new URL('../../', import.meta.url))
  await cp(join(root, rulesPath), join(folder, 'duelog.yaml'))
  await cp(join(root, 'test/docker/alerts.test.yaml'), join(folder, 'alerts.test.yaml'))
  const ran = (...args: string[]): string => execFileSync('promtool', args, { cwd: folder, encoding: 'utf8', timeout: 60_000 })
  expect(ran('check', 'rules', 'queries.yaml')).toContain(`SUCCESS: ${queries.length} rules found`)
  expect(ran('check', 'rules', 'duelog.yaml')).toContain(`SUCCESS: ${rules.length} rules found`)
  expect(ran('test', 'rules', 'alerts.test.yaml')).toContain('SUCCESS')
  for (const [name, content] of Object.entries(alertTimelines(groups)))
    await writeFile(join(folder, name), JSON.stringify(content))
  expect(ran('test', 'rules', 'minutes.test.yaml', 'hours.test.yaml').match(/SUCCESS/g)).toHaveLength(2)
})

function isBalanced(expr: string): boolean {
  const open: string[] = []
  const pairs: Record<string, string> = { ')': '(', ']': '[', '}': '{' }
  for (const sign of expr.replace(/"[^"]*"/g, '')) {
    if ('([{'.includes(sign)) open.push(sign)
    else if (sign in pairs && open.pop() !== pairs[sign]) return false
  }
  return open.length === 0
}
