/** Which topics of the user's Duelog may write to: an allow-list of names in which `*` stands for any characters. */

/** Whether a topic may be written to by a job or a receipt. Topics under our own prefix never may, whatever the list says. */
export function topicAllowance(patterns: readonly string[], prefix: string): (topic: string) => boolean {
  const matchers = patterns.map((pattern) => new RegExp(`^${pattern.split('*').map(literal).join('.*')}$`))
  return (topic) => !topic.startsWith(prefix) && matchers.some((matcher) => matcher.test(topic))
}

const literal = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
