export * from '@allium/memory/documents'
