export type { ScheduleOptions, SchedulesOptions } from './schedules/options.ts'
export { type ScheduleInfo, type ScheduleSummary, type Schedules, schedules } from './schedules/schedules.ts'
