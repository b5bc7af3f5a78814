/** The pages of change sets, which are loaded together. */

export { ChangeSetPage } from './change-sets/change-set.tsx';
export { ChangeSetsPage } from './change-sets/list.tsx';
