import '@allium/testing/vitest'

export type * from '@allium/testing/vitest'
