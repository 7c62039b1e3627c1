export * from '@allium/core/context'
