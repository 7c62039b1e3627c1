export type { CommandContext } from './command-context.ts'
export { exitCodes } from './exit-codes.ts'
export { main } from './main.ts'
