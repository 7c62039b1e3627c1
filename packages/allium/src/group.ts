export * from '@allium/tools/group'
