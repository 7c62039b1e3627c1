export * from '@allium/tools'
