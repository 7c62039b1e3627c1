export * from '@allium/guard'
