//! What is done with a cache afterwards: measurements now; refinement, surfaces and export later.
