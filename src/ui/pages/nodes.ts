/** The pages of nodes. They are loaded together: few files are quicker than many, and the next page is there already. */

export { NodeDiffPage } from './nodes/diff.tsx';
export { NodeHistoryPage } from './nodes/history.tsx';
export { NodesPage } from './nodes/list.tsx';
export { NodePage } from './nodes/node.tsx';
export { NodeParametersPage } from './nodes/parameters.tsx';
