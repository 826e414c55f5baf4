/** The thread of the calculations. One that takes too long is ended with the thread (calculator.ts). */
import { answerCalls } from '../../../ground/process/index.ts'
import { calculations } from './calculations.ts'

answerCalls((name, args) => (calculations[name as keyof typeof calculations] as (...given: never[]) => unknown)(...args))
