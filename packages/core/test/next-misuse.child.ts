// In a process of its own: prints what every misuse of next() comes to in every scope, and the unhandled rejections.
import { scopes } from './kit.ts'
import { misuse, misuses } from './next-misuse.ts'

let unhandled = 0
process.on('unhandledRejection', () => unhandled++)

const outcomes: Record<string, unknown> = {}
for (const how of Object.keys(misuses) as (keyof typeof misuses)[])
  for (const scope of scopes) outcomes[`${how} ${scope}`] = await misuse(scope, how)
setTimeout(() => console.log(JSON.stringify({ outcomes, unhandled, env: process.env.NODE_ENV })), 20)
