export * from '@allium/model'
