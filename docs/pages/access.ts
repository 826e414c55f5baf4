/** docs/ACCESS.md: what each role needs of a cluster with ACLs, from schemas/access.ts. */
import { type AccessRole, accessOf, accessRoles } from '../../schemas/access.ts'
import { code, table } from './markdown.ts'

const names = { prefix: 'duelog.', targets: ['<target topic>'], foreign: ['<foreign topic>'], pools: ['<pool>'] }

export function accessPage(): string {
  const tables = (Object.entries(accessRoles) as [AccessRole, string][]).map(([role, text]) => {
    const rows = accessOf(role, names).map(({ resource, name, pattern, operations, why }) => [
      resource,
      code(pattern === 'prefixed' ? `${name}*` : name),
      operations.join(', '),
      why,
    ])
    return `## ${role}\n\n${text[0]?.toUpperCase()}${text.slice(1)}.\n\n${table(['Resource', 'Name', 'Operations', 'For'], rows)}`
  })
  return `# Access

<!-- Made by docs/generate.ts from schemas/access.ts: change that, then run \`npm run generate\`. -->

What the ACLs of a Kafka cluster must allow to the principal of each process, with the default prefix. A \`*\` at the end stands for a prefixed ACL. A process with several roles needs the tables of all of them. \`duelog acls --role scheduler,api --principal User:duelog\` prints the commands that grant it, for your prefix, pools and topics. A test runs each role on a broker with an authorizer and exactly these.

Topics must be there: either let \`duelog topics apply\` make them under a principal with the table *setup*, or grant that to the processes too. Readers of your own, such as a console, need \`Read\` on what they read and on their group.

What is missing is named: in the log, by \`GET /readyz\` and on the command line, with the error code \`kafka-denied\`, the operation, the principal and the right to grant.

${tables.join('\n\n')}
`
}
