export * from '@allium/tools/skills'
