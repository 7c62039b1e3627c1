export { continueRun, followingRun } from './requests/continue-run.ts'
export { FollowedRun } from './requests/followed-run.ts'
