/** The topics of users that Duelog may write to: an allow-list of names in which `*` matches any characters. */

/** Whether a job or a receipt may write to a topic. Topics with Duelog's own prefix are never allowed. */
export function topicAllowance(patterns: readonly string[], prefix: string): (topic: string) => boolean {
  const matchers = patterns.map((pattern) => new RegExp(`^${pattern.split('*').map(literal).join('.*')}$`))
  return (topic) => !topic.startsWith(prefix) && matchers.some((matcher) => matcher.test(topic))
}

const literal = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
