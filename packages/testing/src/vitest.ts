import { expect } from 'vitest'
import { type AlliumMatchers, matchers } from './matchers/matchers.ts'

expect.extend(matchers)

declare module 'vitest' {
  // biome-ignore lint/suspicious/noExplicitAny: vitest declares it so, and a merged interface has the same parameters
  interface Matchers<T = any> extends AlliumMatchers {}
}

export type { AlliumMatchers }
