export type { ScheduleOptions, SchedulesOptions } from './options.ts'
export { type ScheduleInfo, type ScheduleSummary, type Schedules, schedules } from './schedules.ts'
