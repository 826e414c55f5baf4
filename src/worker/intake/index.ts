/** Writes the schedules of other Kafka schedulers to `jobs`. */
export { ForeignIntake } from './intake.ts'
