/**
 * The logger of the rooms: its methods take a line with the name of an event of the table, and the fields that the table promises. A line
 * without them is an error of the compiler. At run time it is a logger of pino, or one with the same methods.
 */
import type { Logger as PinoLogger } from 'pino'
import type { events, LogLevel } from './events/index.ts'

type Events = typeof events
export type EventName = keyof Events

type LevelsOf<Name extends EventName> = Events[Name]['level'] extends readonly (infer Level)[] ? Level : Events[Name]['level']
type EventAt<Level extends LogLevel> = { [Name in EventName]: Level extends LevelsOf<Name> ? Name : never }[EventName]

type Words<Text extends string> = Text extends ''
  ? never
  : Text extends `${infer First} ${infer Rest}`
    ? First | Words<Rest>
    : Text
type Needed<Word> = Word extends `${string}?` ? never : Word
type Optional<Word> = Word extends `${infer Name}?` ? Name : never
type FieldsOf<Name extends EventName> = Words<Events[Name]['fields']>

/** One line of an event, without its sentence. */
export type LogLine<Name extends EventName> = { event: Name } & { [Field in Needed<FieldsOf<Name>> & string]: unknown } & {
  [Field in Optional<FieldsOf<Name>>]?: unknown
}

type Say<Level extends LogLevel> = <Name extends EventAt<Level>>(line: LogLine<Name>, sentence: string) => void

type Methods = { [Level in LogLevel]: Say<Level> }

/** What rooms log with. `child` gives a logger of pino, for the lines of handlers of users, which have no event. */
export type Logger = Methods & Pick<PinoLogger, 'child'>
