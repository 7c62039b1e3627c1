export * from '@allium/core'
