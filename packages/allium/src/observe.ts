export * from '@allium/observe'
