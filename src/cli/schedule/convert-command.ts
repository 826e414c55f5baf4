/** `duelog schedule convert`: an expression of another scheduler, as a schedule of Duelog. */
import { Argument, Command, Option } from 'commander'
import { type CommandFrame, withExamples } from '../remote/index.ts'
import { writeAsJson } from '../terminal/index.ts'
import { convertedSchedule, type Dialect, dialects } from './foreign-schedules.ts'

export function convertCommand(frame: CommandFrame): Command {
  const description =
    'Print an expression of another scheduler as a schedule of Duelog, in JSON. What has no form here, or may mean otherwise, is refused with the reason.'
  return withExamples(new Command('convert').description(description), [
    "schedule convert --from quartz '0 0 12 ? * 2-6'",
    "schedule convert --from aws 'rate(5 minutes)'",
    "schedule convert --from spring '0 0/5 9-17 * * MON-FRI'",
  ])
    .addOption(new Option('--from <scheduler>', 'where the expression is from').choices(dialects).makeOptionMandatory())
    .addArgument(new Argument('<expression>', 'the expression, as it is there'))
    .action((expression: string, { from }: { from: Dialect }) => {
      writeAsJson(frame.terminal.stdout, convertedSchedule(from, expression))
    })
}
