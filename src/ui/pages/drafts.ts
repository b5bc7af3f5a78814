/** The pages of drafts of configurations. They are loaded together: few files are quicker than many, and the next page is there already. */

export { DraftPage } from './drafts/draft.tsx';
export { ReviewPage } from './drafts/review.tsx';
