export * from '@allium/testing'
