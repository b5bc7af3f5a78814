/** The pages of parameters and scopes. They are loaded together: few files are quicker than many, and the next page is there already. */

export { ParameterFilePage } from './parameters/file.tsx';
export { ParametersPage } from './parameters/matrix.tsx';
export { ScopesPage } from './scopes/scopes.tsx';
