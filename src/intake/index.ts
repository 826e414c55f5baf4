/** Writes the schedules of other Kafka schedulers to `jobs`. */
export { createForeignIntake } from './intake.ts'
